// Finds changes of an OpenAPI 3.1 document that would break a client which was right before.
// Pure: compares two documents in memory. Additions (operations, optional fields, events, values in answers) are compatible.

import { compareSchemas, type Direction, type Documents, isObject, type Json, list, objectAt, resolve } from './schema-changes.ts';

const methods = ['get', 'put', 'post', 'patch', 'delete', 'head', 'options', 'trace'] as const;

function compareContent(documents: Documents, before: Json, after: Json, direction: Direction, at: string): string[] {
  const changes: string[] = [];
  const is = objectAt(after, 'content');
  for (const [type, media] of Object.entries(objectAt(before, 'content'))) {
    if (is[type] === undefined) changes.push(`${at}: media type ${type} removed`);
    else changes.push(...compareSchemas(documents, objectAt(media, 'schema'), objectAt(is[type], 'schema'), direction, at));
  }
  return changes;
}

function parametersOf(document: Json, pathItem: Json, operation: Json): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const parameter of [...list(pathItem.parameters), ...list(operation.parameters)]) {
    const resolved = resolve(document, parameter);
    found.set(`${String(resolved.in)} parameter ${String(resolved.name)}`, resolved);
  }
  return found;
}

function compareParameters(documents: Documents, was: Map<string, Json>, is: Map<string, Json>, at: string): string[] {
  const changes: string[] = [];
  for (const [name, before] of was) {
    const after = is.get(name);
    if (after === undefined) changes.push(`${at}: ${name} removed`);
    else changes.push(...compareSchemas(documents, before.schema, after.schema, 'request', `${at}: ${name}`));
  }
  for (const [name, after] of is) {
    if (after.required === true && was.get(name)?.required !== true) changes.push(`${at}: ${name} is now required`);
  }
  return changes;
}

function compareResponses(documents: Documents, before: Json, after: Json, at: string): string[] {
  const changes: string[] = [];
  const responses = objectAt(after, 'responses');
  for (const [status, value] of Object.entries(objectAt(before, 'responses'))) {
    if (responses[status] === undefined) {
      changes.push(`${at}: response ${status} removed`);
      continue;
    }
    const was = resolve(documents.before, value);
    const is = resolve(documents.after, responses[status]);
    changes.push(...compareContent(documents, was, is, 'response', `${at} → ${status}`));
    for (const header of Object.keys(objectAt(was, 'headers'))) {
      if (objectAt(is, 'headers')[header] === undefined) changes.push(`${at} → ${status}: header ${header} removed`);
    }
  }
  return changes;
}

function compareOperation(documents: Documents, before: Json, after: Json, direction: Direction, at: string): string[] {
  const changes: string[] = [];
  if (before.operationId !== after.operationId) {
    changes.push(
      `${at}: operationId changed from ${String(before.operationId)} to ${String(after.operationId)} (clients name methods after it)`,
    );
  }
  const was = resolve(documents.before, before.requestBody);
  const is = resolve(documents.after, after.requestBody);
  if (direction === 'request' && is.required === true && was.required !== true) changes.push(`${at}: a body is now required`);
  changes.push(...compareContent(documents, was, is, direction, `${at} body`));
  return changes;
}

function comparePathItems(documents: Documents, section: 'paths' | 'webhooks'): string[] {
  const changes: string[] = [];
  const items = objectAt(documents.after, section);
  for (const [name, value] of Object.entries(objectAt(documents.before, section))) {
    const was = resolve(documents.before, value);
    const is = resolve(documents.after, items[name]);
    const label = section === 'paths' ? 'path' : 'webhook';
    if (items[name] === undefined) {
      changes.push(`${name}: ${label} removed`);
      continue;
    }
    for (const method of methods) {
      const [before, after] = [was[method], is[method]];
      if (!isObject(before)) continue;
      const at = section === 'paths' ? `${method.toUpperCase()} ${name}` : `webhook ${name}`;
      if (!isObject(after)) {
        changes.push(`${at}: operation removed`);
        continue;
      }
      // What a webhook carries is sent by us: for its receiver it is an answer, not a request.
      changes.push(...compareOperation(documents, before, after, section === 'paths' ? 'request' : 'response', at));
      if (section === 'webhooks') continue;
      changes.push(
        ...compareParameters(documents, parametersOf(documents.before, was, before), parametersOf(documents.after, is, after), at),
      );
      changes.push(...compareResponses(documents, before, after, at));
    }
  }
  return changes;
}

/** Every breaking change, each as one line that says where and what. Empty: every client that was right still is. */
export function findBreakingChanges(before: Json, after: Json): string[] {
  const documents = { before, after };
  return [...new Set([...comparePathItems(documents, 'paths'), ...comparePathItems(documents, 'webhooks')])];
}
