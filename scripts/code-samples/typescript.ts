// The sample of an operation in TypeScript: a whole module.
// Pure.

import { camel } from '../sdk-operations.ts';
import { beginning, isObject, type Json, type Sample, STREAM_GOES_ON } from './sample.ts';

const LINE_WIDTH = 80;

export function typescriptSample({ operation, ids, body, result, shown }: Sample): string {
  const method = `tranche.${camel(operation.resource)}.${camel(operation.name)}`;
  const lines = ["import { Tranche } from '@tranche/client';", '', 'const tranche = new Tranche();', ''];
  const name = result === null ? null : camel(result);
  if (operation.result?.kind === 'stream') {
    const from = literal(Object.fromEntries(beginning(operation)), ' ');
    lines.push(
      `for await (const ${name} of ${method}(${from})) {`,
      `  console.log(${name}.${shown});`,
      `  break; // ${STREAM_GOES_ON}`,
      '}',
    );
    return `${lines.join('\n')}\n`;
  }
  const call = `${method}(${[...ids.map(quoted), ...(body === null ? [] : [literal(body, '')])].join(', ')})`;
  if (name === null) lines.push(`await ${call};`);
  else if (operation.result?.kind === 'list') lines.push(`for await (const ${name} of ${call}) {`, `  console.log(${name}.${shown});`, '}');
  else lines.push(`const ${name} = await ${call};`, `console.log(${name}.${shown});`);
  return `${lines.join('\n')}\n`;
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

function literal(value: Json, indent: string): string {
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one: Json) => literal(one, inner))
    : isObject(value)
      ? Object.entries(value).map(([key, one]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : quoted(key)}: ${literal(one, inner)}`)
      : null;
  if (parts === null) return typeof value === 'string' ? quoted(value) : String(value);
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  if (parts.length === 0) return `${open}${close}`;
  const short = `${open}${space}${parts.join(', ')}${space}${close}`;
  // What is called with is always spread out: that reads like the forms of a form.
  if (indent !== '' && short.length + indent.length < LINE_WIDTH && !short.includes('\n')) return short;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
