// Where the page is, in the part of the address behind `#`, so that no server has to know.

export type Route =
  | { view: 'fleet' }
  | {
      view: 'session';
      id: string;
      tab: string;
      turn: number | null;
      /** The entry after which the journal is told; absent: its latest entries. */
      after?: number;
    }
  | { view: 'analytics' }
  | { view: 'replay' };

export const TABS = [
  'timeline',
  'conversation',
  'decisions',
  'files',
  'tests',
  'attempts',
  'mail',
  'journal',
] as const;

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', second = '', third = ''] = path.split('/');
  if (first === 'analytics') return { view: 'analytics' };
  if (first === 'replay') return { view: 'replay' };
  if (first !== 's' || second === '') return { view: 'fleet' };
  const params = new URLSearchParams(query);
  const turn = Number.parseInt(params.get('turn') ?? '', 10);
  const after = Number.parseInt(params.get('after') ?? '', 10);
  const tab = TABS.find((known) => known === third) ?? 'timeline';
  return {
    view: 'session',
    id: decode(second),
    tab,
    turn: Number.isNaN(turn) ? null : turn,
    ...(Number.isNaN(after) ? {} : { after }),
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function hrefOf(route: Route): string {
  switch (route.view) {
    case 'fleet':
      return '#/';
    case 'analytics':
    case 'replay':
      return `#/${route.view}`;
    case 'session': {
      const tab = route.tab === 'timeline' ? '' : `/${route.tab}`;
      const turn = route.turn === null ? '' : `?turn=${route.turn}`;
      return `#/s/${encodeURIComponent(route.id)}${tab}${turn}`;
    }
  }
}
