// Short statements that come up in the same turn of the event loop share a connection: they leave in one write and are answered in one read.
// Runs and releases by the functions it is handed; knows nothing of pools.

import type { Queryable } from './database.ts';

/**
 * Statements of one ride. They are answered one after the other, so each may wait for those before it: few enough that none waits long,
 * and as many as gain anything. Measured with lists of 20 payments: four a ride are served a fifth faster than one, eight or sixteen no more.
 */
const MAX_RIDERS = 4;

interface Ride<Lease> {
  readonly lease: Promise<Lease>;
  boarded: number;
  /** Those that have boarded and are not answered yet. */
  under: number;
  spoilt: boolean;
}

export interface SharedRidesOptions<Lease> {
  readonly lease: () => Promise<Lease>;
  readonly run: <Row>(lease: Lease, text: string, parameters: readonly unknown[] | undefined) => Promise<Row[]>;
  /** `spoilt`: the connection must not be used again. */
  readonly release: (lease: Lease, spoilt: boolean) => void;
  readonly spoils: (error: unknown) => boolean;
}

export class SharedRides<Lease> implements Queryable {
  readonly #options: SharedRidesOptions<Lease>;
  /** The one that can still be boarded. */
  #waiting: Ride<Lease> | null = null;

  constructor(options: SharedRidesOptions<Lease>) {
    this.#options = options;
  }

  async query<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]> {
    const ride = this.#board();
    try {
      return await this.#options.run<Row>(await ride.lease, text, parameters);
    } catch (error) {
      ride.spoilt ||= this.#options.spoils(error);
      throw error;
    } finally {
      ride.under -= 1;
      this.#settle(ride);
    }
  }

  #board(): Ride<Lease> {
    const ride = this.#waiting ?? this.#begin();
    ride.under += 1;
    ride.boarded += 1;
    if (ride.boarded === MAX_RIDERS) this.#waiting = null;
    return ride;
  }

  #begin(): Ride<Lease> {
    const ride: Ride<Lease> = { lease: this.#options.lease(), boarded: 0, under: 0, spoilt: false };
    this.#waiting = ride;
    // After the input events of this turn: whoever comes later takes the next one.
    setImmediate(() => {
      if (this.#waiting !== ride) return;
      this.#waiting = null;
      this.#settle(ride);
    });
    return ride;
  }

  /** The connection goes back once nobody rides and nobody can board. Without a lease there is nothing to give back: each rider was told. */
  #settle(ride: Ride<Lease>): void {
    if (ride.under > 0 || this.#waiting === ride) return;
    ride.lease.then(
      (lease) => this.#options.release(lease, ride.spoilt),
      () => undefined,
    );
  }
}
