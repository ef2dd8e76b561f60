/** RouterOS users for terminals: one for each level. */
export const TERMINAL_USERS = [
  { name: 'term-read', password: 'read-password', group: 'read' },
  { name: 'term-full', password: 'full-password', group: 'full' },
];

/** `terminal` of a router in agent.yaml. */
export function terminalConfig(): object {
  const [read, full] = TERMINAL_USERS.map(({ name, password }) => ({ username: name, password }));
  return { read, full };
}
