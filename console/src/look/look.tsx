import '@mantine/core/styles/baseline.css';
import '@mantine/core/styles/default-css-variables.css';
import { MantineProvider, createTheme } from '@mantine/core';
import type { CSSVariablesResolver } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { currentTheme, onThemeChange } from './theme.ts';

const theme = createTheme({ fontFamily: 'var(--sb-font)', fontFamilyMonospace: 'var(--sb-mono)', defaultRadius: 5, cursorType: 'pointer' });

/** What floats (dialogs, menus, the palette) is Mantine's; its colours are our tokens, which know the theme themselves. */
const colours = {
  '--mantine-color-body': 'var(--sb-page)',
  '--mantine-color-text': 'var(--sb-ink)',
  '--mantine-color-dimmed': 'var(--sb-dim)',
  '--mantine-color-default': 'var(--sb-over)',
  '--mantine-color-default-border': 'var(--sb-line)',
  '--mantine-color-default-hover': 'var(--sb-inset)',
  '--mantine-primary-color-filled': 'var(--sb-hand-fill)',
  '--mantine-font-size-sm': 'var(--sb-t3)',
  '--mantine-font-size-md': 'var(--sb-t3)',
};

// For each theme, too: Mantine gives these names a colour of its own there, which would win, also on the page itself.
const resolveVariables: CSSVariablesResolver = () => ({ variables: {}, light: colours, dark: colours });

/** The nonce of this answer (index.html): the policy allows style elements that carry it. Scripts cannot read the attribute, only the property. */
export const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? '';

export function Look({ children }: { children: React.ReactNode }) {
  const scheme = useSyncExternalStore(onThemeChange, currentTheme);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      forceColorScheme={scheme}
      getStyleNonce={() => nonce}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  );
}
