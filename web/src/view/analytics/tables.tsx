// What sessions came to, as tables.

import type { ComponentChildren } from 'preact';
import type { Analytics } from '../../client';
import { count, money, percent, short, words } from '../../format';
import { ActionBadge } from '../marks';

interface SheetProps {
  title: string;
  about?: string;
  head: readonly string[];
  /** Columns of numbers begin with this one. */
  numbersFrom: number;
  children: ComponentChildren;
  isEmpty: boolean;
}

function Sheet({ title, about, head, numbersFrom, children, isEmpty }: SheetProps) {
  return (
    <section class="panel sheet-table">
      <h2>{title}</h2>
      {about !== undefined && <p class="soft">{about}</p>}
      {isEmpty ? (
        <p class="soft">Nothing in this time.</p>
      ) : (
        <div class="table" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                {head.map((name, at) => (
                  <th key={name} scope="col" class={at >= numbersFrom ? 'num' : ''}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** A list of names with bars as long as their numbers. */
function Bars({ title, values }: { title: string; values: Record<string, number> }) {
  const rows = Object.entries(values).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...rows.map(([, number]) => number));
  const total = rows.reduce((sum, [, number]) => sum + number, 0);
  return (
    <section class="panel">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="soft">Nothing in this time.</p>
      ) : (
        <dl class="bars">
          {rows.map(([name, number]) => (
            <div key={name}>
              <dt>{words(name)}</dt>
              <dd>
                <i style={{ width: `${(number / most) * 100}%` }} aria-hidden="true" />
                <span>
                  {count(number)} <small>{percent(number / total)}</small>
                </span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

export function Endings({ analytics }: { analytics: Analytics }) {
  return <Bars title="How sessions stand or ended" values={analytics.endings} />;
}

export function StopReasons({ analytics }: { analytics: Analytics }) {
  return (
    <>
      <Bars title="Why models stopped" values={analytics.stop_reasons} />
      <Bars title="Limits that were hit" values={analytics.limits.by_budget} />
    </>
  );
}

export function FollowedTable({ analytics }: { analytics: Analytics }) {
  const { followed } = analytics;
  return (
    <Sheet
      title="What followed interventions"
      about="In shadow mode this is what happens without them."
      head={['Intervention', 'Went on', 'Again', 'Answered', 'Broke off', 'Nothing yet']}
      numbersFrom={1}
      isEmpty={followed.length === 0}
    >
      {followed.map((it) => (
        <tr key={`${it.action}-${it.shadow}`}>
          <th scope="row">
            <ActionBadge action={it.action} shadow={it.shadow} />
          </th>
          <td class="num">{count(it.went_on)}</td>
          <td class="num">{count(it.again)}</td>
          <td class="num">{count(it.answered)}</td>
          <td class="num">{count(it.broke_off)}</td>
          <td class="num">{count(it.nothing)}</td>
        </tr>
      ))}
    </Sheet>
  );
}

export function DecisionTable({ analytics }: { analytics: Analytics }) {
  const rows = [...analytics.decisions].sort((a, b) => b.count - a.count);
  return (
    <Sheet
      title="Decisions by reason"
      head={['Decision', 'Reason', 'Count']}
      numbersFrom={2}
      isEmpty={rows.length === 0}
    >
      {rows.map((it) => (
        <tr key={`${it.action}-${it.reason}-${it.shadow}`}>
          <th scope="row">
            <ActionBadge action={it.action} shadow={it.shadow} />
          </th>
          <td>{words(it.reason)}</td>
          <td class="num">{count(it.count)}</td>
        </tr>
      ))}
    </Sheet>
  );
}

export function GroupTable({ analytics }: { analytics: Analytics }) {
  const { groups } = analytics;
  return (
    <div class="wide">
      <Sheet
        title="By agent and model"
        about="Solved: a check proved the goal. Only runs with a check can be judged."
        head={[
          'Agent',
          'Model',
          'Sessions',
          'Solved',
          'Turns (median)',
          'At a limit',
          'Start-overs',
          'Interventions',
          'Tokens',
          'Cost',
        ]}
        numbersFrom={2}
        isEmpty={groups.length === 0}
      >
        {groups.map((it) => (
          <tr key={`${it.kind}-${it.agent}-${it.model}`}>
            <th scope="row">
              {it.agent || 'unknown'} {it.kind === 'run' && <span class="tag">run</span>}
            </th>
            <td>{it.model || 'unknown'}</td>
            <td class="num">{count(it.sessions)}</td>
            <td class="num">
              {it.judged === 0 ? '–' : `${percent(it.solved / it.judged)} of ${it.judged}`}
            </td>
            <td class="num">{it.turns.count === 0 ? '–' : it.turns.median}</td>
            <td class="num">{count(it.at_limit)}</td>
            <td class="num">{count(it.start_overs)}</td>
            <td class="num">{count(it.interventions)}</td>
            <td class="num">{short(it.tokens)}</td>
            <td class="num">{money(it.cost_nanodollars)}</td>
          </tr>
        ))}
      </Sheet>
    </div>
  );
}

export function JudgedTable({ analytics }: { analytics: Analytics }) {
  const { judged } = analytics;
  return (
    <Sheet
      title="What people made of interventions"
      head={['Intervention', 'Reason', 'Template', 'Helpful', 'Harmful']}
      numbersFrom={3}
      isEmpty={judged.length === 0}
    >
      {judged.map((it) => (
        <tr key={`${it.action}-${it.reason}-${it.template}`}>
          <th scope="row">
            <ActionBadge action={it.action} shadow={false} />
          </th>
          <td>{words(it.reason)}</td>
          <td>{it.template || '–'}</td>
          <td class="num">{count(it.helpful)}</td>
          <td class="num">{count(it.harmful)}</td>
        </tr>
      ))}
    </Sheet>
  );
}
