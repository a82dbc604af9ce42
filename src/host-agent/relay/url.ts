import { RELAY_URL_PLACEHOLDER } from '../../host-protocol/messages.ts'

/** Puts this host's relay origin into the variables that the platform injects; user variables are never touched. */
export function substituteRelayUrl(platformEnv: Record<string, string>, relayUrl: string): Record<string, string> {
  return Object.fromEntries(Object.entries(platformEnv).map(([name, value]) => [name, value.replaceAll(RELAY_URL_PLACEHOLDER, relayUrl)]))
}
