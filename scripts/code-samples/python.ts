// The sample of an operation in Python: a whole program.
// Pure.

import { pythonName } from '../generate-python/python.ts';
import { beginning, isObject, type Json, type Sample, STREAM_GOES_ON } from './sample.ts';

const LINE_WIDTH = 88;

export function pythonSample({ operation, ids, body, result, shown }: Sample): string {
  const method = `client.${operation.resource}.${operation.name}`;
  if (operation.result?.kind === 'stream') {
    const from = beginning(operation).map(([name, value]) => `${pythonName(name)}=${value}`);
    const loop = [`for ${result} in ${method}(${from.join(', ')}):`, `    print(${result}.${pythonName(shown)})`];
    return `${['import tranche', '', 'client = tranche.Tranche()', '', ...loop, `    break  # ${STREAM_GOES_ON}`].join('\n')}\n`;
  }
  const named = Object.entries(body ?? {}).map(([name, value]) => `${pythonName(name)}=${literal(value, '    ')}`);
  const given = [...ids.map((id) => JSON.stringify(id)), ...named];
  const short = `${method}(${given.join(', ')})`;
  const call = named.length === 0 ? short : `${method}(\n${given.map((one) => `    ${one},\n`).join('')})`;
  const lines = ['import tranche', '', 'client = tranche.Tranche()', ''];
  if (result === null) lines.push(call);
  else if (operation.result?.kind === 'list') lines.push(`for ${result} in ${call}:`, `    print(${result}.${pythonName(shown)})`);
  else lines.push(`${result} = ${call}`, `print(${result}.${pythonName(shown)})`);
  return `${lines.join('\n')}\n`;
}

function literal(value: Json, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const parts = isObject(value)
    ? Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${literal(one, inner)}`)
    : value.map((one: Json) => literal(one, inner));
  const [open, close] = isObject(value) ? ['{', '}'] : ['[', ']'];
  const short = `${open}${parts.join(', ')}${close}`;
  if (short.length + indent.length < LINE_WIDTH && !short.includes('\n')) return short;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
