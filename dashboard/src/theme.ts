// The look in one place: a neutral palette with one accent, small radii, dense text.
// Colours of states stand in ui/status-badge.tsx; layout in styles.css.

import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** A deep green-blue. White is readable on shades 6 and 7; shade 7 on white and shade 4 on the dark ground are readable as text. */
const accent: MantineColorsTuple = [
  '#eefaf8',
  '#d7f1ed',
  '#abe1d9',
  '#78cdc2',
  '#4cb5a8',
  '#2b9c8f',
  '#178277',
  '#0f6f66',
  '#0c5a53',
  '#094641',
];

const gray: MantineColorsTuple = [
  '#f8f9fa',
  '#f1f3f5',
  '#e6e9ec',
  '#d8dce1',
  '#c1c7ce',
  '#98a0aa',
  '#66707b',
  '#4b545e',
  '#323a43',
  '#1c232b',
];

const dark: MantineColorsTuple = [
  '#d5d9de',
  '#b3bac2',
  '#98a1ab',
  '#6a737d',
  '#434b55',
  '#323941',
  '#272d34',
  '#1b2026',
  '#15191e',
  '#0f1216',
];

/** White is readable on shades 6 and 7; shade 7 on white and shades up to 4 on the dark ground are readable as text. */
const red: MantineColorsTuple = [
  '#fff5f5',
  '#ffe3e3',
  '#ffc9c9',
  '#ffa8a8',
  '#ff8787',
  '#f06565',
  '#d63c3c',
  '#b82626',
  '#9c1d1d',
  '#7d1616',
];

export const theme = createTheme({
  colors: { accent, gray, dark, red },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.32,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  defaultRadius: 'sm',
  radius: { sm: '6px' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } },
  },
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', allowDeselect: false } },
    // An empty place that takes the focus first is none that a menu may hold.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4 } } },
    Drawer: { defaultProps: { overlayProps: { backgroundOpacity: 0.25 } } },
  },
});
