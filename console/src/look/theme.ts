/** What the person chose: a theme, or whatever the system says at the moment. */
export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'signalbox-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

export function themeChoice(): ThemeChoice {
  return readTheme(localStorage.getItem(KEY)) ?? 'system';
}

/** Undefined for what is no choice. */
export function readTheme(value: unknown): ThemeChoice | undefined {
  return value === 'light' || value === 'dark' || value === 'system' ? value : undefined;
}

export function currentTheme(): 'light' | 'dark' {
  const choice = themeChoice();
  if (choice !== 'system') return choice;
  return dark.matches ? 'dark' : 'light';
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  apply();
}

export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Light or dark; the tokens are chosen by this attribute. */
export function followTheme(): void {
  apply();
  dark.addEventListener('change', apply);
  // Another tab of this browser.
  addEventListener('storage', ({ key }) => {
    if (key === KEY) apply();
  });
}

function apply(): void {
  document.documentElement.setAttribute('data-theme', currentTheme());
  for (const listener of listeners) listener();
}
