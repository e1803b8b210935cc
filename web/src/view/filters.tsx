// What the fleet is narrowed down by.

import { words } from '../format';
import { offered } from '../live';
import { prefer, preferences } from '../preferences';
import { SORT_KEYS, type Choice } from '../state/choice';

function change(part: Partial<Choice>): void {
  prefer({ choice: { ...preferences.value.choice, ...part } });
}

export function Filters() {
  const choice = preferences.value.choice;
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label class="search">
        <span class="hidden">Search sessions</span>
        <input
          id="search"
          type="search"
          placeholder="Search task, agent, model, id"
          maxLength={200}
          value={choice.text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      </label>
      <Pick
        name="State"
        value={choice.state}
        values={offered.value.state}
        pick={(state) => change({ state })}
      />
      <Pick
        name="Agent"
        value={choice.agent}
        values={offered.value.agent}
        pick={(agent) => change({ agent })}
      />
      <Pick
        name="Model"
        value={choice.model}
        values={offered.value.model}
        pick={(model) => change({ model })}
      />
      <label class="pick">
        <span>Order</span>
        <select
          value={choice.sort}
          onChange={(event) => {
            const sort = SORT_KEYS.find((key) => key === event.currentTarget.value);
            if (sort !== undefined) change({ sort, reversed: false });
          }}
        >
          {SORT_KEYS.map((key) => (
            <option key={key} value={key}>
              {key === 'attention' ? 'needs attention' : words(key)}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

interface Picks {
  name: string;
  value: string;
  values: readonly string[];
  pick(value: string): void;
}

/** One of the values there are; one that is chosen stays offered when nothing has it any more. */
function Pick({ name, value, values, pick }: Picks) {
  const all = value === '' || values.includes(value) ? values : [value, ...values];
  return (
    <label class="pick">
      <span class="hidden">{name}</span>
      <select value={value} onChange={(event) => pick(event.currentTarget.value)}>
        <option value="">any {name.toLowerCase()}</option>
        {all.map((it) => (
          <option key={it} value={it}>
            {words(it)}
          </option>
        ))}
      </select>
    </label>
  );
}
