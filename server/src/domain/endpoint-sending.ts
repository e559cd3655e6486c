// What an endpoint may ask of the requests it is sent: how they are signed, and headers of its own.
// Pure; keys and values are held sealed (encrypted) and opened only by the sender.

/** By the names of Standard Webhooks: `v1` is HMAC-SHA256 with the secret, `v1a` is ed25519 with a key of the endpoint. */
export const signatureSchemes = ['v1', 'v1a'] as const;
export type SignatureScheme = (typeof signatureSchemes)[number];

/** What signs, and until when. */
export interface Expiring {
  /** When it stops signing; null for the current one. */
  readonly expiresAt: Date | null;
}

export interface SealedSigningKey extends Expiring {
  /** `whpk_…`; for everybody to know. */
  readonly publicKey: string;
  /** The encrypted private key. */
  readonly sealed: string;
}

/** A key pair that the caller made for this endpoint; used only where the decision needs one. */
export type NewSigningKey = Pick<SealedSigningKey, 'publicKey' | 'sealed'>;

/** A header of the endpoint's own. Its value is held sealed, since it is likely to be a credential. */
export interface SealedHeader {
  readonly name: string;
  readonly sealed: string;
}

/** Absent names stay, null deletes. */
export interface HeaderChange {
  readonly name: string;
  readonly sealed: string | null;
}

/** Bounds what every request carries on top of ours. */
export const MAX_HEADERS = 10;

/** What signs at once at most: bounds the signature header, however often a secret is rotated within an overlap. */
export const MAX_SECRETS = 5;

/** Merges a change into the headers; names are the same in any case. Null when there would be too many. */
export function mergeHeaders(current: readonly SealedHeader[], changes: readonly HeaderChange[]): readonly SealedHeader[] | null {
  const merged = new Map(current.map((header) => [header.name.toLowerCase(), header]));
  for (const { name, sealed } of changes) {
    if (sealed === null) merged.delete(name.toLowerCase());
    else merged.set(name.toLowerCase(), { name, sealed });
  }
  return merged.size > MAX_HEADERS ? null : [...merged.values()];
}

/** The keys of an endpoint that signs by these schemes: a first one where `v1a` asks for it and there is none that stays. */
export function signingKeysFor(
  schemes: readonly SignatureScheme[],
  keys: readonly SealedSigningKey[],
  fresh: NewSigningKey | null,
): readonly SealedSigningKey[] {
  if (!schemes.includes('v1a') || fresh === null || keys.some((key) => key.expiresAt === null)) return keys;
  return [{ ...fresh, expiresAt: null }, ...keys];
}

/** A new one first. Older ones sign along until the overlap ends, none longer than it would have anyway; past their end they are dropped. */
export function rotate<Item extends Expiring>(items: readonly Item[], fresh: Item, overlapEnd: Date, now: Date): Item[] {
  const older = items
    .map((item) => ({ ...item, expiresAt: item.expiresAt !== null && item.expiresAt < overlapEnd ? item.expiresAt : overlapEnd }))
    .filter((item) => item.expiresAt > now)
    .slice(0, MAX_SECRETS - 1);
  return [fresh, ...older];
}
