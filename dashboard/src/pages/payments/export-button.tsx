// Downloads a list as a CSV file, with the filters that are set: of any size, and with a word on how far it is.
// The file is the server's; a download that broke off is no file.

import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { download } from './download.ts';

export interface ExportButtonProps {
  readonly path: '/v1/payments/export' | '/v1/invoices/export';
  readonly filters: Readonly<Record<string, string | undefined>>;
}

const sizeText = (bytes: number): string => (bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`);

export function ExportButton({ path, filters }: ExportButtonProps): ReactNode {
  const [received, setReceived] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const underWay = useRef<AbortController | null>(null);

  async function start(): Promise<void> {
    if (underWay.current !== null) return;
    const end = new AbortController();
    underWay.current = end;
    setReceived(0);
    setError(null);
    try {
      const set = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
      const query = new URLSearchParams(set).toString();
      const size = await download(query === '' ? path : `${path}?${query}`, 'export.csv', end.signal, setReceived);
      notify(`Exported ${sizeText(size)}`);
    } catch (reason) {
      if (!end.signal.aborted) setError(reason);
    } finally {
      underWay.current = null;
      setReceived(null);
    }
  }

  return (
    <>
      <Button variant="default" onClick={() => void start()} leftSection={<Icon name="download" size={16} />} disabled={received !== null}>
        {received === null || received === 0 ? 'Export CSV' : sizeText(received)}
      </Button>
      {received !== null && (
        <Button variant="subtle" color="gray" onClick={() => underWay.current?.abort()}>
          Cancel
        </Button>
      )}
      <Modal
        opened={error !== null}
        onClose={() => setError(null)}
        title="Nothing was exported"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack gap="sm">
          <Text size="sm">The file did not arrive whole, so none was kept.</Text>
          {error !== null && <ErrorNotice error={error} />}
          <Group justify="flex-end">
            <Button onClick={() => void start()}>Try again</Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
