// Fails when openapi.json, as it is in the working tree, breaks clients of the version before it.
// Reads git and files, writes nothing. A break that was decided on is listed with its reason in scripts/accepted-breaks.json.
//
// The version before is the one at the merge base with the main branch or, on the main branch itself, the newest committed one that differs.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findBreakingChanges } from './openapi-changes.ts';
import type { Json } from './schema-changes.ts';

const FILE = 'openapi.json';
/** How far back the search for an earlier version goes; each step is one `git show`. */
const MAX_COMMITS = 50;
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const root = fileURLToPath(new URL('..', import.meta.url));

function git(...parameters: string[]): string | null {
  try {
    return execFileSync('git', parameters, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: MAX_DOCUMENT_BYTES,
    });
  } catch {
    return null;
  }
}

function contentAt(commit: string): string | null {
  return git('show', `${commit}:${FILE}`);
}

interface Version {
  readonly commit: string;
  readonly text: string;
}

function previousVersion(current: string): Version | null {
  const head = git('rev-parse', 'HEAD')?.trim();
  for (const branch of ['origin/HEAD', 'origin/main']) {
    const base = git('merge-base', 'HEAD', branch)?.trim();
    if (base === undefined || base === '' || base === head) continue;
    const text = contentAt(base);
    if (text !== null && text !== current) return { commit: base, text };
  }
  const commits = git('log', '--format=%H', `--max-count=${MAX_COMMITS}`, '--', FILE)?.split('\n') ?? [];
  for (const commit of commits) {
    const text = commit === '' ? null : contentAt(commit);
    if (text !== null && text !== current) return { commit, text };
  }
  return null;
}

function acceptedBreaks(): ReadonlyMap<string, string> {
  const path = `${root}scripts/accepted-breaks.json`;
  if (!existsSync(path)) return new Map();
  const entries = JSON.parse(readFileSync(path, 'utf8')) as { change: string; reason: string }[];
  return new Map(entries.map(({ change, reason }) => [change, reason]));
}

function main(): number {
  if (!existsSync(`${root}${FILE}`)) {
    console.error(`${FILE} does not exist: run "npm run generate".`);
    return 1;
  }
  const current = readFileSync(`${root}${FILE}`, 'utf8');
  const previous = previousVersion(current);
  if (previous === null) {
    const shallow = git('rev-parse', '--is-shallow-repository')?.trim() === 'true';
    console.log(`No earlier version of ${FILE} ${shallow ? 'in this shallow clone' : 'exists'}: nothing to compare with.`);
    return 0;
  }
  const accepted = acceptedBreaks();
  const changes = findBreakingChanges(JSON.parse(previous.text) as Json, JSON.parse(current) as Json);
  const refused = changes.filter((change) => !accepted.has(change));
  console.log(`Compared ${FILE} with the version of commit ${previous.commit.slice(0, 12)}.`);
  for (const change of changes) if (accepted.has(change)) console.log(`  accepted: ${change} (${accepted.get(change)})`);
  for (const change of refused) console.error(`  breaking: ${change}`);
  if (refused.length > 0) {
    console.error(
      `${refused.length} changes break clients of /v1. Undo them, or decide on them in scripts/accepted-breaks.json with a reason.`,
    );
    return 1;
  }
  console.log('No client that was right before is broken.');
  return 0;
}

process.exitCode = main();
