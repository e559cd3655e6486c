// Asks before a milestone is moved: what happens to the money, to whom, now or later; with the note, the links or the reason that belong to it.
// Acts on the milestone as it was shown; one that changed meanwhile is shown first, and nothing is done.

import { Checkbox, Stack, Text, Textarea } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import type { Milestone, MilestoneUpdate, Project } from '../../client/sdk.ts';
import { formatMoney } from '../../ui/amount.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { wordsOf } from '../../ui/status-badge.tsx';
import { useAttemptKey } from './attempt-key.ts';
import { ConflictNotice } from './conflict-notice.tsx';
import { linksOf, MAX_LINKS } from './links.ts';
import { effectOf, type Move, milestoneDifferences } from './moves.ts';
import { changeMilestone } from './project-data.ts';

const MAX_NOTE_LENGTH = 5_000;
const MAX_REASON_LENGTH = 2_000;

export interface MoveDialogProps {
  readonly move: Move;
  /** As it is now; it may become newer while the dialog is open. */
  readonly milestone: Milestone;
  readonly project: Project;
  readonly onClose: () => void;
}

export function MoveDialog({ move, milestone, project, onClose }: MoveDialogProps): ReactNode {
  const [held, setHeld] = useState(milestone);
  const [heldProject, setHeldProject] = useState(project);
  // What comes back while our own change is under way is that change.
  const [isSending, setSending] = useState(false);
  const [isAwareOfPayee, setAwareOfPayee] = useState(false);
  const [note, setNote] = useState('');
  const [linkText, setLinkText] = useState('');
  const [reason, setReason] = useState('');
  const keyFor = useAttemptKey();
  const links = linksOf(linkText);
  const isStale = !isSending && milestone.version !== held.version;
  const isReleaseChanged = !isSending && project.release !== heldProject.release;
  const isPossible = milestone.allowed_transitions.includes(move.to);
  const { money, rest, confirm } = effectOf(move.to, held, heldProject);
  const asksPayee = move.to === 'approved' && held.payee_id === null;
  const isReady =
    !isStale &&
    !isReleaseChanged &&
    links !== null &&
    (move.to !== 'changes_requested' || reason.trim() !== '') &&
    (!asksPayee || isAwareOfPayee);

  async function carryOut(): Promise<void> {
    const body = bodyOf(move, { note: note.trim(), links: links ?? [], reason: reason.trim() });
    setSending(true);
    try {
      notify(await outcomeOf(await changeMilestone(held, body, keyFor([body, held.version]))));
    } catch (error) {
      setSending(false);
      throw error;
    }
  }

  return (
    <ConfirmDialog
      key={`${held.version} ${heldProject.release}`}
      opened
      onClose={onClose}
      title={move.question ?? move.label}
      effect={<EffectText title={held.title} money={money} rest={rest} />}
      confirm={confirm}
      danger={move.isDanger}
      ready={isReady}
      onConfirm={carryOut}
    >
      <Stack gap="sm">
        {move.to === 'submitted' && (
          <>
            <Textarea
              label="Note"
              description="For whoever approves it."
              autosize
              minRows={2}
              maxRows={8}
              maxLength={MAX_NOTE_LENGTH}
              value={note}
              onChange={(change) => setNote(change.currentTarget.value)}
            />
            <Textarea
              label="Links"
              description={`One a line, up to ${MAX_LINKS}.`}
              autosize
              minRows={2}
              maxRows={6}
              value={linkText}
              onChange={(change) => setLinkText(change.currentTarget.value)}
              error={
                links === null ? `Write up to ${MAX_LINKS} addresses that begin with https:// or http://, each on a line of its own.` : null
              }
            />
          </>
        )}
        {(move.to === 'changes_requested' || move.to === 'cancelled') && (
          <Textarea
            label="Reason"
            required={move.to === 'changes_requested'}
            description={move.to === 'cancelled' ? 'May be left out.' : 'What has to change.'}
            autosize
            minRows={2}
            maxRows={8}
            maxLength={MAX_REASON_LENGTH}
            value={reason}
            onChange={(change) => setReason(change.currentTarget.value)}
          />
        )}
        {asksPayee && (
          <Checkbox
            label="I know that no payee is named; the payment will name nobody."
            checked={isAwareOfPayee}
            onChange={(change) => setAwareOfPayee(change.currentTarget.checked)}
          />
        )}
        {(isStale || isReleaseChanged) && (
          <ConflictNotice
            noun={isStale ? 'milestone' : 'project'}
            at={isStale ? milestone.updated_at : project.updated_at}
            differences={
              isStale
                ? milestoneDifferences(held, milestone)
                : [{ field: 'Release', from: wordsOf(heldProject.release), to: wordsOf(project.release) }]
            }
            onContinue={() => {
              if (!isPossible) return onClose();
              setHeld(milestone);
              setHeldProject(project);
            }}
          >
            {!isPossible && <Text size="sm">It is {wordsOf(milestone.status).toLowerCase()} now, so this can no longer be done.</Text>}
          </ConflictNotice>
        )}
      </Stack>
    </ConfirmDialog>
  );
}

interface Said {
  readonly note: string;
  readonly links: readonly string[];
  readonly reason: string;
}

function bodyOf({ to }: Move, { note, links, reason }: Said): MilestoneUpdate {
  if (to === 'submitted' && (note !== '' || links.length > 0))
    return { status: to, submission: { ...(note === '' ? {} : { note }), ...(links.length === 0 ? {} : { links }) } };
  return reason === '' ? { status: to } : { status: to, reason };
}

function EffectText({ title, money, rest }: { readonly title: string; readonly money: string; readonly rest: string }): ReactNode {
  return (
    <Stack gap={6}>
      <Text size="sm" c="dimmed" lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Text>
      <Text size="md" fw={600} style={{ overflowWrap: 'anywhere' }} data-testid="money-effect">
        {money}
      </Text>
      {rest !== '' && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {rest}
        </Text>
      )}
    </Stack>
  );
}

/** What really happened, read from the records: a project may have been set to release by hand in the same moment. */
async function outcomeOf(milestone: Milestone): Promise<string> {
  if (milestone.status !== 'approved') return `${wordsOf(milestone.status)}: ${milestone.title}`;
  const amount = formatMoney(milestone.amount, milestone.currency);
  try {
    const [payment] = (await client.payments.list({ milestone_id: milestone.id, limit: 1 })).data;
    if (payment?.status === 'released') return `Approved: ${amount} is released`;
    if (payment?.status === 'pending') return `Approved: ${amount} waits for its release`;
  } catch {}
  return `Approved: ${milestone.title}`;
}
