// A model server that says what the question's header `x-say` wants, in the format of Chat
// Completions. It is the rehearsed part of every session of these tests. Who sends no such header
// is told what comes next in a script, if there is one.

import { createServer } from 'node:http';

export async function startModel(script = []) {
  const asked = [];
  const left = [...script];
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}');
      asked.push(body);
      const wanted = request.headers['x-say'];
      const say = wanted
        ? JSON.parse(Buffer.from(wanted, 'base64').toString())
        : (left.shift() ?? {});
      if (say.status) {
        response.writeHead(say.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: say.text ?? 'out of order' } }));
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer(body, say)));
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    asked,
    url: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(done);
      }),
  };
}

function answer(body, say) {
  const calls = (say.calls ?? []).map((call, at) => ({
    id: call.id ?? `call-${Date.now()}-${at}`,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) },
  }));
  const message = { role: 'assistant', content: say.text ?? '' };
  if (calls.length > 0) message.tool_calls = calls;
  const prompt_tokens = say.input ?? 900;
  const completion_tokens = say.output ?? 60;
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: body.model ?? 'rehearsal',
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  };
}
