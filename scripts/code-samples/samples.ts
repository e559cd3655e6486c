// The samples of every operation that a key may call, in the three languages that have a client. `npm run generate` writes them for the reference to show.
// Pure.

import { type Document, operationsOf, streamsOf } from '../sdk-operations.ts';
import { goSample } from './go.ts';
import { pythonSample } from './python.ts';
import { sampleOf } from './sample.ts';
import { typescriptSample } from './typescript.ts';

/** As OpenAPI's extension `x-codeSamples` has it. */
export interface CodeSample {
  readonly lang: 'TypeScript' | 'Python' | 'Go';
  readonly label: string;
  readonly source: string;
}

export function codeSamples(document: Document): Record<string, CodeSample[]> {
  const all: Record<string, CodeSample[]> = {};
  for (const operation of [...operationsOf(document), ...streamsOf(document)].filter(({ isForKeys }) => isForKeys)) {
    const sample = sampleOf(operation, document.components.schemas);
    all[operation.operationId] = [
      { lang: 'TypeScript', label: 'TypeScript', source: typescriptSample(sample) },
      { lang: 'Python', label: 'Python', source: pythonSample(sample) },
      { lang: 'Go', label: 'Go', source: goSample(sample, document.components.schemas) },
    ];
  }
  return all;
}
