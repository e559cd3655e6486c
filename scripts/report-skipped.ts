// A vitest reporter: the last thing a run says is which tests did not run, and why.
// Only prints. Whether a skipped test is a failure is decided by whoever reads it (.ci/run does).

import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Above this many names a reason shows only the first ones: the reason and the count are what matters. */
const MAX_NAMES_PER_REASON = 8;
const NO_REASON = 'no reason given';

/** The reason handed to `skip(reason)`, or the one that an enclosing `describe` carries in brackets: `describe('… (needs PostgreSQL)')`. */
function reasonOf(test: TestCase): string {
  const result = test.result();
  if (test.options.mode === 'todo') return 'not written yet (todo)';
  if (result.state === 'skipped' && result.note !== undefined) return result.note;
  return /\(((?:needs|skipped)\b[^)]*)\)/.exec(test.fullName)?.[1] ?? NO_REASON;
}

export class SkippedTestsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const byReason = new Map<string, string[]>();
    let ran = 0;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        if (test.result().state !== 'skipped') {
          ran += 1;
          continue;
        }
        const reason = reasonOf(test);
        const name = `${relative(process.cwd(), module.moduleId)} > ${test.fullName}`;
        byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
      }
    }
    const skipped = [...byReason.values()].reduce((sum, names) => sum + names.length, 0);
    if (skipped === 0) {
      console.log(`No test was skipped: all ${ran} ran.\n`);
      return;
    }
    console.log(`${skipped} of ${ran + skipped} tests did NOT run:`);
    for (const [reason, names] of byReason) {
      console.log(`  ${names.length} × ${reason}`);
      for (const name of names.slice(0, MAX_NAMES_PER_REASON)) console.log(`      ${name}`);
      if (names.length > MAX_NAMES_PER_REASON) console.log(`      … and ${names.length - MAX_NAMES_PER_REASON} more`);
    }
    console.log('');
  }
}
