// What every editable record shares: metadata that merges, and fields that change only where an update names them.
// Pure.

export type Metadata = Readonly<Record<string, string>>;

/** A string sets, null deletes. */
export type MetadataPatch = Readonly<Record<string, string | null>>;

export const MAX_METADATA_KEYS = 50;

/** Merges a patch into metadata. Null when the result would hold too many keys. */
export function mergeMetadata(current: Metadata, patch: MetadataPatch): Metadata | null {
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return merged.size > MAX_METADATA_KEYS ? null : Object.fromEntries(merged);
}

/** The record with every field that the update names; one that is absent (undefined) keeps the record's own. */
export function applyFields<Entity extends object>(
  entity: Entity,
  fields: { readonly [Field in keyof Entity]?: Entity[Field] | undefined },
): Entity {
  const next = { ...entity };
  for (const field of Object.keys(fields) as (keyof Entity)[]) {
    const value = fields[field];
    if (value !== undefined) next[field] = value;
  }
  return next;
}
