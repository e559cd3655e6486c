// Hashing passwords, within bounds: each takes tens of milliseconds of a core and tens of megabytes, and strangers can ask for it.
// How a password is hashed is better-auth's business (scrypt, salted).

/** Side by side; more would only take turns on the cores. */
const AT_ONCE = 2;
/** That wait their turn: some seconds of work. Beyond it whoever asks is told to come again. */
const MAX_WAITING = 60;

/** More passwords wait to be checked than are taken on. */
export class PasswordWorkFull extends Error {}

export function createPasswordWork() {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (waiting.length >= MAX_WAITING) throw new PasswordWorkFull('too many passwords wait to be checked');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  // Loaded when first needed: a server that only programs call, and the command line, never do.
  const crypto = () => import('better-auth/crypto');
  return {
    hash: (password: string): Promise<string> => inTurn(async () => (await crypto()).hashPassword(password)),
    verify: (proof: { hash: string; password: string }): Promise<boolean> => inTurn(async () => (await crypto()).verifyPassword(proof)),
  };
}
