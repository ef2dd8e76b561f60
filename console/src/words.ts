/** Said before any page is there. */
export const words = {
  signingIn: 'Signing in',
  failed: 'The control plane cannot be read',
  tryAgain: 'Try again',
  problem: (message: string, request: string | null) => `${message} (request ${request ?? 'unknown'}).`,
  noAnswer: 'It does not answer. Your network, a proxy or the control plane itself may be down.',
};
