// Makes the embedded database's files survive a power cut: PGlite's own file system answers fsync without doing it.
// Only adds what is missing; reading, writing and mounting stay PGlite's.

import { closeSync, fsyncSync, openSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type Init = NodeFS['init'];
type InitResult = Awaited<ReturnType<Init>>;

/** The part of Emscripten's NODEFS that concerns us. It belongs to one instance of the module, so nothing else in the process is changed. */
interface Nodefs {
  tryFSOperation<T>(operation: () => T): T;
  stream_ops: { fsync?: (stream: { nfd: number }) => number };
}

/** `onFsync` is called after each fsync that succeeded, for a test to count them. */
export class DurableNodeFS extends NodeFS {
  readonly #onFsync: (() => void) | undefined;

  constructor(directory: string, onFsync?: () => void) {
    super(directory);
    this.#onFsync = onFsync;
  }

  override async init(...[database, options]: Parameters<Init>): Promise<InitResult> {
    const { emscriptenOpts } = await super.init(database, options);
    const addFsync = (module: unknown): void => {
      const { NODEFS } = module as { NODEFS: Nodefs };
      // The WASI call fd_sync calls this for files and directories alike. tryFSOperation turns a failure into an errno, on which
      // PostgreSQL panics, as it must: after a failed fsync the kernel may have dropped the page.
      NODEFS.stream_ops.fsync = (stream) => {
        NODEFS.tryFSOperation(() => fsyncSync(stream.nfd));
        this.#onFsync?.();
        return 0;
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } };
  }
}

function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives a directory that is whole its name, so that a crash half-way leaves nothing of that name. */
export function publishTree(unfinished: string, directory: string): void {
  fsyncTree(unfinished);
  renameSync(unfinished, directory);
  fsyncPath(dirname(directory));
}

/** Every file and directory under `directory`, and its own entry in its parent. */
function fsyncTree(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) fsyncPath(join(entry.parentPath, entry.name));
  }
  fsyncPath(directory);
  fsyncPath(dirname(directory));
}
