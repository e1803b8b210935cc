// Names every function of the page and its tests that is longer than a function may be.

import { readFileSync } from 'node:fs';
import ts from 'typescript';

const MAX_LINES = 70;
let found = 0;

for (const name of process.argv.slice(2)) {
  const kind = name.endsWith('x') ? ts.ScriptKind.TSX : undefined;
  const text = readFileSync(name, 'utf8');
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, kind);
  const line = (at) => source.getLineAndCharacterOfPosition(at).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const lines = line(node.end) - line(node.getStart()) + 1;
      if (lines > MAX_LINES) {
        found += 1;
        console.log(`${name}:${line(node.getStart()) + 1}: a function of ${lines} lines`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
process.exit(found > 0 ? 1 : 0);
