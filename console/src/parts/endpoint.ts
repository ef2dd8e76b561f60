/** `10.0.0.5:22`, `[2001:db8::1]:22`. */
export function endpoint(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
