import { mayNameHost, mayUsePlainHttp } from '../../../platform/core/public-address.ts';

export const SMS_CALLBACK_PATH = '/callbacks/sms';
export const WHATSAPP_CALLBACK_PATH = '/callbacks/whatsapp';

/**
 * Where a provider of text messages finds us; null when it could not, or when everybody on its way could read along.
 * @param publicUrl without a slash at the end
 * @param allowLoopback for development: the provider runs on this machine
 */
export function smsCallbackUrl(publicUrl: string, { allowLoopback }: { allowLoopback: boolean }): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  const isReachable = protocol === 'https:' ? mayNameHost(hostname, { allowLoopback }) : mayUsePlainHttp(hostname, { allowLoopback });
  return isReachable ? `${publicUrl}${SMS_CALLBACK_PATH}` : null;
}
