/** Light or dark as the system says; the tokens are chosen by this attribute. */
const dark = matchMedia('(prefers-color-scheme: dark)');

export function followSystemTheme(): void {
  const apply = (): void => document.documentElement.setAttribute('data-theme', dark.matches ? 'dark' : 'light');
  apply();
  dark.addEventListener('change', apply);
}
