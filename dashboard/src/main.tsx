// Where the dashboard begins: providers around the router.
// Nothing else is decided here.

import '@mantine/core/styles.css';
import './styles.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { areas } from './app/areas.ts';
import { AreasContext } from './app/areas-context.ts';
import { router } from './app/router.tsx';
import { onSignedOut } from './client/client.ts';
import { queryClient } from './client/queries.ts';
import { accountQuery } from './session/account.ts';
import { theme } from './theme.ts';
import { Notices } from './ui/notices.tsx';

/** The server's word of this page by which the browser knows styles and scripts that are ours. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// Where the library that holds the page still behind a dialog looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const colorSchemeManager = localStorageColorSchemeManager({ key: 'tranche.color-scheme' });

onSignedOut(() => {
  if (queryClient.getQueryData(accountQuery.queryKey) == null) return;
  // Whoever sits here next is shown nothing of it.
  queryClient.clear();
  queryClient.setQueryData(accountQuery.queryKey, null);
  void router.invalidate();
});

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={colorSchemeManager} getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        <AreasContext value={areas}>
          <RouterProvider router={router} />
          <Notices />
        </AreasContext>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
