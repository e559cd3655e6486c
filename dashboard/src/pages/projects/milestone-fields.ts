// What is typed about a milestone, and what is sent of it: checked here for what the server would refuse, so that it is said beside the field.
// Sends nothing; the server's own word on a field goes back to it by its pointer.

import { ApiError, type Milestone, type MilestoneCreate, type MilestoneUpdate } from '../../client/sdk.ts';
import { formatAmount, parseAmount } from '../../ui/amount.ts';

export interface MetadataRow {
  readonly key: string;
  readonly value: string;
}

export interface MilestoneValues {
  title: string;
  /** As it was typed: what it means depends on the currency, which may still change. */
  amount: string;
  due_date: string;
  description: string;
  payee_id: string;
  currency: string;
  metadata: MetadataRow[];
}

export const blankMilestone = (currency = ''): MilestoneValues => ({
  title: '',
  amount: '',
  due_date: '',
  description: '',
  payee_id: '',
  currency,
  metadata: [],
});

export function valuesOf(milestone: Milestone): MilestoneValues {
  return {
    title: milestone.title,
    amount: formatAmount(milestone.amount, milestone.currency),
    due_date: milestone.due_date ?? '',
    description: milestone.description ?? '',
    payee_id: milestone.payee_id ?? '',
    currency: milestone.currency,
    metadata: rowsOf(milestone.metadata),
  };
}

export const rowsOf = (metadata: Readonly<Record<string, string>>): MetadataRow[] =>
  Object.entries(metadata).map(([key, value]) => ({ key, value }));

const MAX_AMOUNT = 999_999_999_999n;

export function amountProblem(text: string, currency: string): string | null {
  const { minor, problem } = parseAmount(text, currency);
  if (problem !== null) return problem;
  if (minor === 0n) return 'The amount must be above zero.';
  return minor > MAX_AMOUNT ? `At most ${formatAmount(MAX_AMOUNT, currency)}.` : null;
}

export function textProblem(text: string, maxLength: number): string | null {
  if (text.trim() === '') return 'Fill this in.';
  return text.length > maxLength ? `At most ${maxLength} characters.` : null;
}

export function metadataProblem(key: string, rows: readonly MetadataRow[]): string | null {
  if (key === '') return 'Name it.';
  if (key.length > 40) return 'At most 40 characters.';
  return rows.filter((row) => row.key === key).length > 1 ? 'This name is there already.' : null;
}

const minorOf = (text: string, currency: string): number => Number(parseAmount(text, currency).minor ?? 0n);

export const recordOf = (rows: readonly MetadataRow[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ key, value }) => [key, value]));

export function createBodyOf(values: MilestoneValues, projectCurrency: string): MilestoneCreate {
  const { title, description, due_date, payee_id, metadata } = values;
  const currency = values.currency === '' ? projectCurrency : values.currency;
  return {
    title: title.trim(),
    amount: minorOf(values.amount, currency),
    ...(values.currency === '' ? {} : { currency }),
    ...(due_date === '' ? {} : { due_date }),
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(payee_id.trim() === '' ? {} : { payee_id: payee_id.trim() }),
    ...(metadata.length === 0 ? {} : { metadata: recordOf(metadata) }),
  };
}

/** What was deleted is null, what is new or other is set, what is the same is left out; undefined where nothing is. */
export function metadataPatchOf(
  before: Readonly<Record<string, string>>,
  rows: readonly MetadataRow[],
): Record<string, string | null> | undefined {
  const after = recordOf(rows);
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const set = Object.entries(after).filter(([key, value]) => before[key] !== value);
  if (gone.length === 0 && set.length === 0) return undefined;
  return Object.fromEntries([...gone.map((key) => [key, null] as const), ...set]);
}

/** Only what the person changed, so that what somebody else changed meanwhile stays theirs. */
export function updateBodyOf(values: MilestoneValues, before: Milestone): MilestoneUpdate {
  const first = valuesOf(before);
  const is = (field: keyof MilestoneValues): boolean => values[field] !== first[field];
  const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const metadata = metadataPatchOf(before.metadata, values.metadata);
  const isMoneyOther = is('amount') || is('currency');
  return {
    ...(is('title') ? { title: values.title.trim() } : {}),
    ...(is('description') ? { description: orNull(values.description) } : {}),
    ...(is('due_date') ? { due_date: orNull(values.due_date) } : {}),
    ...(is('payee_id') ? { payee_id: orNull(values.payee_id) } : {}),
    ...(isMoneyOther ? { amount: minorOf(values.amount, values.currency) } : {}),
    ...(is('currency') ? { currency: values.currency } : {}),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The server's word on fields, by the path of the field in the form: `/milestones/0/amount` → `milestones.0.amount`. */
export function fieldErrorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  const ofBody = error.fieldErrors.filter(({ pointer }) => pointer.startsWith('/'));
  return Object.fromEntries(ofBody.map(({ pointer, message }) => [pointer.slice(1).replaceAll('/', '.'), message]));
}
