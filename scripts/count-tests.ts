// Reads vitest's JSON report and prints "<passed> <failed>" for .ci/run; what failed or was skipped is named on stderr.
// A test that did not run has not passed: skipped and unwritten tests count as failed. So does a file that could not be loaded.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: 'passed' | 'failed';
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const path = process.argv[2];
if (path === undefined) throw new Error('usage: count-tests.ts <report.json>');
const report = JSON.parse(readFileSync(path, 'utf8')) as Report;

let passed = 0;
let failed = 0;
for (const file of report.testResults) {
  const name = relative(process.cwd(), file.name);
  let failedHere = 0;
  for (const test of file.assertionResults) {
    if (test.status === 'passed') {
      passed += 1;
      continue;
    }
    failedHere += 1;
    console.error(`  ${test.status}: ${name} > ${test.fullName}`);
  }
  if (file.status === 'failed' && failedHere === 0) {
    failedHere = 1;
    console.error(`  failed: ${name} (the file itself: ${file.message.split('\n')[0] ?? ''})`);
  }
  failed += failedHere;
}
if (passed + failed === 0) throw new Error('the report holds no tests');
console.log(`${passed} ${failed}`);
