// Saves an answer of the API as a file. A link could not say which workspace is meant, nor show what went wrong.
// Keeps only whole files: the browser holds the parts, on disk where they are many, until the last has come.

import { send } from '../../client/client.ts';
import { ApiError, type FieldError } from '../../client/sdk.ts';

/** The name that the server gives the file. */
function nameOf(answer: Response, otherwise: string): string {
  return /filename="([^"/\\]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? otherwise;
}

interface ProblemBody {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
}

async function refusalOf(answer: Response): Promise<ApiError> {
  const problem = (await answer.json().catch(() => ({}))) as ProblemBody;
  return new ApiError({
    status: answer.status,
    code: problem.code ?? null,
    message: problem.detail ?? `The server answered ${answer.status}.`,
    requestId: answer.headers.get('request-id'),
    fieldErrors: problem.errors ?? [],
    headers: answer.headers,
    retryAfterMs: null,
  });
}

const TELL_EVERY_BYTES = 100_000;

/** How long the browser has to take the file over. */
const KEPT_MS = 60_000;

/** Resolves to the size in bytes once the whole file was handed to the browser. */
export async function download(
  path: string,
  otherwise: string,
  signal: AbortSignal,
  onProgress: (bytes: number) => void = () => undefined,
): Promise<number> {
  const answer = await send(path, { signal });
  if (!answer.ok || answer.body === null) throw await refusalOf(answer);
  let size = 0;
  let told = 0;
  const counted = answer.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(part, onward) {
        size += part.byteLength;
        if (size - told > TELL_EVERY_BYTES) {
          told = size;
          onProgress(size);
        }
        onward.enqueue(part);
      },
    }),
  );
  const type = answer.headers.get('content-type') ?? 'application/octet-stream';
  const file = await new Response(counted, { headers: { 'content-type': type } }).blob();
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = nameOf(answer, otherwise);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
  return size;
}
