// The icons: drawn for this dashboard on a grid of 20, in the colour of the text around them.
// They say nothing to a screen reader; what they stand beside does.

import type { ReactNode } from 'react';

const paths = {
  home: 'M3 9.5 10 3.5l7 6V16a1 1 0 0 1-1 1h-3.5v-5h-5v5H4a1 1 0 0 1-1-1z',
  projects: 'M3 6a1 1 0 0 1 1-1h4l2 2h6a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z',
  payments: 'M3 6.5h14v8H3zM3 9.5h14M6 12.5h3',
  invoices: 'M5 3h10v14l-2.5-1.5L10 17l-2.500-1.500L5 17zM8 7h4M8 10h4',
  key: 'M8 12.500a3.500 3.500 0 1 1 2.400-5.900L17 6.500v3h-2v2h-2.500v-2h-1.100A3.500 3.500 0 0 1 8 12.500M7.500 9h.01',
  webhooks:
    'M10 7.500a2.500 2.500 0 1 0-2.300-3.500M9 7l-3 5M5.500 12a2.500 2.500 0 1 0 2.500 3h5M14.500 12a2.500 2.500 0 1 1-1 4.800M11 7l2.800 4.600',
  events: 'M3 10h3l2-5 4 10 2-5h3',
  requests: 'M4 6h9M10.500 3.500 13 6l-2.500 2.500M16 14H7M9.500 11.500 7 14l2.500 2.500',
  usage: 'M4 16V9M8 16V4M12 16v-5M16 16V7',
  settings: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4',
  workspace: 'M4 17V5h7v12M11 9h5v8M2.500 17h15M6.500 8h2M6.500 11h2M6.500 14h2',
  people:
    'M7.500 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2.500 16.500c0-3 2-5 5-5s5 2 5 5M13 4a2.800 2.800 0 0 1 0 5.400M14 11.700c2.200.5 3.500 2.300 3.500 4.800',
  account: 'M10 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 16.500c0-3 2.500-5 6-5s6 2 6 5',
  audit: 'M5 3h10v14H5zM8 7h4M8 10h4M8 13h2',
  book: 'M4 4h5a1 1 0 0 1 1 1v11a1.500 1.500 0 0 0-1.500-1.500H4zM16 4h-5a1 1 0 0 0-1 1v11a1.500 1.500 0 0 1 1.500-1.500H16z',
  search: 'M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11M13 13l4 4',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  check: 'M4 10.500 8 14.500l8-9',
  close: 'M5 5l10 10M15 5 5 15',
  plus: 'M10 4v12M4 10h12',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  menu: 'M3 5.500h14M3 10h14M3 14.500h14',
  sun: 'M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7M10 2.500v1M10 16.500v1M2.500 10h1M16.500 10h1M4.700 4.700l.7.7M14.600 14.600l.7.7M4.700 15.300l.7-.7M14.600 5.400l.7-.7',
  moon: 'M16.500 11.500A7 7 0 0 1 8.500 3.500a7 7 0 1 0 8 8',
  auto: 'M10 17a7 7 0 1 0 0-14v14z',
  chevron: 'M7.500 5 12.500 10l-5 5',
  down: 'M5 7.500 10 12.500l5-5',
  back: 'M12.500 5 7.500 10l5 5',
  external: 'M8 4H4v12h12v-4M11 4h5v5M16 4l-7 7',
  download: 'M10 3v9M6 8.500l4 4 4-4M4 16.500h12',
  refresh: 'M16 8a6.300 6.300 0 1 0 .3 3.500M16.500 4v4h-4',
  warning: 'M10 3 2.500 16.500h15zM10 8v4M10 14.300h.01',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M10 9v4.500M10 6.500h.01',
  play: 'M6 4l10 6-10 6z',
  pause: 'M6.500 4v12M13.500 4v12',
  trash: 'M4 6h12M8 6V4h4v2M5.500 6l.8 10.500h7.400L14.500 6',
  edit: 'M4 16l.8-3.500L13 4.300l2.700 2.700-8.200 8.200z',
  eye: 'M2.500 10c2-3.500 4.500-5 7.500-5s5.500 1.500 7.500 5c-2 3.500-4.500 5-7.500 5s-5.500-1.500-7.500-5M10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4',
  mail: 'M3 5h14v10H3zM3 5.500l7 5.500 7-5.500',
  filter: 'M3 5h14M6 10h8M8.500 15h3',
  signOut: 'M8 4H4v12h4M8 10h9M13.500 6.500 17 10l-3.500 3.500',
  keyboard: 'M2.500 5.500h15v9h-15zM5.500 8.500h.01M8.500 8.500h.01M11.500 8.500h.01M14.500 8.500h.01M7 11.500h6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} fill={name === 'auto' ? 'currentColor' : 'none'} />
    </svg>
  );
}
