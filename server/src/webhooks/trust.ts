// How many attempts at once this process trusts an endpoint with: few until it has answered, more with every quick acknowledgement.
// What an endpoint that hangs can take up is so little that the others do not notice. In memory and of this process alone; forgetting is harmless.

/** Before the first answer. */
const FIRST = 4;
/** More than any cap of an endpoint. */
const MOST = 256;
/** Endpoints remembered; the one that was heard of longest ago makes room. */
const MAX_ENDPOINTS = 10_000;

export interface Trust {
  of(endpointId: string): number;
  /** An attempt was acknowledged in good time. */
  grow(endpointId: string): void;
  /** An attempt failed, or has not been answered for long. */
  shrink(endpointId: string): void;
}

export function createTrust(): Trust {
  const known = new Map<string, number>();
  const of = (endpointId: string): number => known.get(endpointId) ?? FIRST;
  function set(endpointId: string, trust: number): void {
    known.delete(endpointId);
    const oldest = known.keys().next();
    if (known.size >= MAX_ENDPOINTS && oldest.done !== true) known.delete(oldest.value);
    known.set(endpointId, trust);
  }
  return {
    of,
    grow: (endpointId) => set(endpointId, Math.min(MOST, of(endpointId) + 1)),
    shrink: (endpointId) => set(endpointId, Math.max(1, Math.floor(of(endpointId) / 2))),
  };
}
