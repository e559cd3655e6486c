// One invoice as it is printed, with the letterhead that held when it was issued: on paper nothing but the sheet. The PDF is the server's.
// Changes nothing: an invoice is paid by the release of its payment.

import { Button, Group, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { Invoice, Letterhead } from '../../client/sdk.ts';
import { formatAmount } from '../../ui/amount.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { dateText } from '../../ui/moments.ts';
import { Money } from '../../ui/money.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PageSkeleton } from '../../ui/skeletons.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { download } from '../payments/download.ts';
import { useProjectName } from '../projects/project-data.ts';
import classes from './invoice-page.module.css';
import { InvoiceBadge } from './invoices-table.tsx';

export function InvoicePage(): ReactNode {
  const { invoiceId } = useParams({ from: '/inside/invoices/$invoiceId' });
  const invoice = useQuery({ queryKey: keys.one('invoices', invoiceId), queryFn: () => client.invoices.retrieve(invoiceId) });
  if (invoice.isPending) return <PageSkeleton />;
  if (invoice.data === undefined) {
    return (
      <>
        <PageHeader title="Invoice" />
        <ErrorNotice error={invoice.error} retry={() => void invoice.refetch()} />
      </>
    );
  }
  return <Shown invoice={invoice.data} />;
}

function Shown({ invoice }: { readonly invoice: Invoice }): ReactNode {
  useShortcut('d', 'Download the PDF', () => document.querySelector<HTMLButtonElement>('[data-download-pdf]')?.click());
  return (
    <>
      <div className={classes.screen}>
        <PageHeader
          title={`Invoice ${invoice.number}`}
          description={
            <Group gap="md">
              <InvoiceBadge invoice={invoice} />
              <TextLink href={`/projects/${invoice.project_id}?open=${invoice.milestone_id}`}>Milestone</TextLink>
              <TextLink href={`/payments?open=${invoice.payment_id}`}>Payment</TextLink>
            </Group>
          }
        >
          <Button variant="default" onClick={() => window.print()}>
            Print
          </Button>
          <PdfButton invoice={invoice} />
        </PageHeader>
      </div>
      <Sheet invoice={invoice} />
    </>
  );
}

function PdfButton({ invoice }: { readonly invoice: Invoice }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function save(): Promise<void> {
    setBusy(true);
    try {
      await download(`/v1/invoices/${invoice.id}/pdf`, `${invoice.number}.pdf`, new AbortController().signal);
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Button data-download-pdf onClick={() => void save()} loading={isBusy} leftSection={<Icon name="download" size={16} />}>
        Download PDF
      </Button>
      <Modal opened={error !== null} onClose={() => setError(null)} title="No PDF was made" closeButtonProps={{ 'aria-label': 'Close' }}>
        {error !== null && <ErrorNotice error={error} retry={() => void save().then(() => setError(null))} />}
      </Modal>
    </>
  );
}

function Sheet({ invoice }: { readonly invoice: Invoice }): ReactNode {
  const projectName = useProjectName(invoice.project_id);
  const { letterhead } = invoice;
  return (
    <article className={classes.sheet} aria-label={`Invoice ${invoice.number}`}>
      <div className={classes.head}>
        <div>{letterhead !== undefined && <Head letterhead={letterhead} />}</div>
        <div className={classes.title}>
          <strong>Invoice</strong>
          <div>{invoice.number}</div>
          <div className={classes.faint}>Issued {dateText(new Date(invoice.created_at))}</div>
          <div className={classes.faint}>{paidText(invoice)}</div>
        </div>
      </div>
      <dl className={classes.parties}>
        <div>
          <dt>Billed to</dt>
          <dd>
            <strong>{invoice.client_id}</strong>
          </dd>
        </div>
        <div>
          <dt>Project</dt>
          <dd>
            <TextLink href={`/projects/${invoice.project_id}`}>{projectName ?? invoice.project_id}</TextLink>
          </dd>
        </div>
      </dl>
      <Lines invoice={invoice} />
      {letterhead?.tax_line != null && <p className={classes.tax}>{letterhead.tax_line}</p>}
    </article>
  );
}

/** Who issued it, as it was then. */
function Head({ letterhead }: { readonly letterhead: Letterhead }): ReactNode {
  const { logo, name, legal_name, address_lines, tax_id } = letterhead;
  return (
    <>
      {logo !== null && <img className={classes.logo} src={`data:${logo.content_type};base64,${logo.data}`} alt="" />}
      <div className={classes.name}>{legal_name ?? name}</div>
      {address_lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines of an address may be the same.
        <div key={at}>{line}</div>
      ))}
      {tax_id !== null && <div>Tax ID {tax_id}</div>}
    </>
  );
}

function paidText({ status, paid_at }: Invoice): string {
  if (status === 'void') return 'Void: nothing is owed on it';
  return paid_at === null ? 'Not paid yet' : `Paid ${dateText(new Date(paid_at))}`;
}

function Lines({ invoice }: { readonly invoice: Invoice }): ReactNode {
  const { lines, currency, subtotal, tax, total } = invoice;
  return (
    <table className={classes.lines}>
      <thead>
        <tr>
          <th scope="col">Description</th>
          <th scope="col">Amount in {currency}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ milestone_id, description, amount }) => (
          <tr key={milestone_id}>
            <td>{description}</td>
            <td>{formatAmount(amount, currency)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        {tax !== 0 && (
          <>
            <tr>
              <th scope="row">Subtotal</th>
              <td>{formatAmount(subtotal, currency)}</td>
            </tr>
            <tr>
              <th scope="row">Tax</th>
              <td>{formatAmount(tax, currency)}</td>
            </tr>
          </>
        )}
        <tr className={classes.total}>
          <th scope="row">Total</th>
          <td>
            <Money amount={total} currency={currency} />
          </td>
        </tr>
      </tfoot>
    </table>
  );
}
