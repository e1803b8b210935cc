// An agent that is told what its model says and what its tools return.

const TOOLS = ['read', 'edit', 'bash', 'grep'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: 'A tool.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  },
}));

export class Agent {
  constructor(gateway, name, task, { client = 'claude-code', model = 'rehearsal-1' } = {}) {
    Object.assign(this, { gateway, name, task, client, model });
    this.messages = [{ role: 'user', content: task }];
    this.number = 0;
    this.lastHeaders = new Headers();
  }

  /** One turn: the model says this and calls those tools, which return what stands beside them. */
  async turn(say) {
    this.number += 1;
    const calls = (say.calls ?? []).map((call, at) => ({ ...call, id: `c${this.number}-${at}` }));
    const response = await fetch(`${this.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-steersman-session': this.name,
        'user-agent': this.client,
        'x-say': Buffer.from(JSON.stringify({ ...say, calls })).toString('base64'),
      },
      body: JSON.stringify({
        model: this.model,
        messages: this.messages,
        tools: [...TOOLS, ...(say.tools ?? [])],
      }),
    });
    this.lastHeaders = response.headers;
    this.session = response.headers.get('x-steersman-session') ?? this.session;
    const body = await response.json();
    if (!response.ok) return body;
    const message = body.choices[0].message;
    this.messages.push(message);
    for (const call of message.tool_calls ?? []) {
      const returns = calls.find((it) => it.id === call.id)?.returns ?? 'ok';
      this.messages.push({ role: 'tool', tool_call_id: call.id, content: returns });
    }
    return body;
  }

  user(text) {
    this.messages.push({ role: 'user', content: text });
  }
}

/** A healthy run that mends a failing test. */
export async function mend(agent, turns = 9) {
  const steps = [
    { text: 'I look at the tests first.', calls: [call('bash', 'pytest -q', FAILING(3))] },
    {
      text: 'Three fail. I read the parser.',
      calls: [call('read', 'src/parse.py', 'def parse(s):\n    return int(s)')],
    },
    {
      text: 'The lexer feeds it.',
      calls: [
        call('grep', 'lex(', 'src/lex.py:12: def lex(s):'),
        call('read', 'src/lex.py', 'def lex(s):\n    return s.split()'),
      ],
    },
    { text: 'An empty string is not handled.', calls: [call('edit', 'src/parse.py', 'edited')] },
    { text: 'Again the tests.', calls: [call('bash', 'pytest -q', FAILING(1))] },
    {
      text: 'One is left: signs.',
      calls: [call('read', 'tests/test_sign.py', 'def test_sign(): assert parse("-1") == -1')],
    },
    { text: 'I handle the sign.', calls: [call('edit', 'src/lex.py', 'edited')] },
    { text: 'And the tests once more.', calls: [call('bash', 'pytest -q', '12 passed in 0.31s')] },
    { text: 'All 12 tests pass: empty strings and signs are handled now.' },
  ];
  for (const step of steps.slice(0, turns)) await agent.turn(step);
}

/** The same failing command again and again. */
export async function loop(agent, turns = 10) {
  let body = null;
  for (let turn = 0; turn < turns; turn += 1) {
    body = await agent.turn({
      text: 'I try it again.',
      calls: [call('bash', 'make build', FAILED)],
    });
  }
  return body;
}

const FAILED = 'make: *** No rule to make target "build".  Stop.\nexit code 2';

function FAILING(number) {
  const names = ['test_empty', 'test_blank', 'test_sign'].slice(-number);
  const lines = names.map((name) => `FAILED tests/test_parse.py::${name} - ValueError`);
  return `${lines.join('\n')}\n${number} failed, ${12 - number} passed in 0.42s`;
}

export function call(name, target, returns) {
  const argument =
    name === 'bash'
      ? { command: target }
      : name === 'grep'
        ? { pattern: target }
        : { path: target };
  return { name, arguments: argument, returns };
}
