// The control socket: how the command line reaches the process that holds the embedded database. Unix socket, owner only.
// Carries the operations as JSON: one request, then lines of progress, then one line with the result or the error.

import { chmodSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { OperationName, Operations, Progress } from './operations.ts';
import { OperatorError } from './operator-error.ts';

const MAX_REQUEST_BYTES = 64 * 1024;
/** A Unix socket's path may have 107 characters at most; a longer one is cut silently by the system. */
const MAX_PATH_LENGTH = 107;

interface Line {
  readonly progress?: string;
  readonly result?: unknown;
  readonly error?: string;
}

export function controlSocketPath(dataDir: string): string {
  return join(resolve(dataDir), 'control.sock');
}

/** Null where the path is too long for a socket; then the command line cannot reach this server, and doctor says so. */
export async function serveControlSocket(path: string, operations: Operations, onError: (error: unknown) => void): Promise<Server | null> {
  if (path.length > MAX_PATH_LENGTH) return null;
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_REQUEST_BYTES) incoming.destroy();
      else chunks.push(chunk);
    });
    incoming.on('end', () => {
      const say = (line: Line): void => {
        outgoing.write(`${JSON.stringify(line)}\n`);
      };
      perform(operations, Buffer.concat(chunks).toString(), (progress) => say({ progress }))
        .then((result) => say({ result }))
        .catch((error: unknown) => {
          if (!(error instanceof OperatorError)) onError(error);
          say({ error: error instanceof Error ? error.message : String(error) });
        })
        .finally(() => outgoing.end());
    });
  });
  server.on('error', onError);
  // We hold the directory's lock, so a socket that is there was left by a killed process.
  rmSync(path, { force: true });
  // The mask, not only the mode set after: nobody else may connect in between.
  const mask = process.umask(0o077);
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed);
      server.listen(path, () => {
        server.off('error', failed);
        done();
      });
    });
  } finally {
    process.umask(mask);
  }
  chmodSync(path, 0o600);
  return server;
}

async function perform(operations: Operations, text: string, onProgress: Progress): Promise<unknown> {
  const { operation, input } = JSON.parse(text) as { operation: string; input: unknown };
  if (!Object.hasOwn(operations, operation)) throw new OperatorError(`This server does not know the operation "${operation}".`);
  return operations[operation as OperationName](input, onProgress);
}

/** Calls an operation of the process behind the socket. Undefined when no process is there. */
export function callControlSocket<Name extends OperationName>(
  path: string,
  operation: Name,
  input: unknown,
  onProgress: Progress,
): Promise<Awaited<ReturnType<Operations[Name]>> | undefined> {
  return new Promise((done, failed) => {
    const call = request({ socketPath: path, method: 'POST', path: '/' }, (answer) => {
      let last: Line = { error: 'The server went away before it answered; look with "tranche keys list" what became of it.' };
      const lines = createInterface({ input: answer });
      // A server that is killed meanwhile ends the stream with an error; the lines so far, and `close`, come all the same.
      lines.on('error', () => lines.close());
      lines.on('line', (text) => {
        const line = JSON.parse(text) as Line;
        if (line.progress !== undefined) onProgress(line.progress);
        else last = line;
      });
      lines.on('close', () => {
        if (last.error !== undefined) failed(new OperatorError(last.error));
        else done(last.result as Awaited<ReturnType<Operations[Name]>>);
      });
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') done(undefined);
      else failed(new OperatorError(`The server that holds DATA_DIR cannot be asked at ${path}: ${error.message}.`));
    });
    call.end(JSON.stringify({ operation, input }));
  });
}
