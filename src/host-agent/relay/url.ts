import { RELAY_URL_PLACEHOLDER } from '../../host-protocol/messages.ts'

/** Inserts this host's relay origin into the variables of the platform; a user's variables are never changed. */
export function substituteRelayUrl(platformEnv: Record<string, string>, relayUrl: string): Record<string, string> {
  return Object.fromEntries(Object.entries(platformEnv).map(([name, value]) => [name, value.replaceAll(RELAY_URL_PLACEHOLDER, relayUrl)]))
}
