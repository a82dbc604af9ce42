import type { Why } from '../../contract/explain/explain.ts'
import type { WhyOption } from '../../contract/explain-options.ts'
import { formatTime } from '../../contract/timestamps.ts'
import type { Verdict } from '../../domain/explain/evidence.ts'
import { type Advice, cheapestAdvice } from '../../domain/explain/option.ts'
import type { Env } from '../../env.ts'
import { isAnySilent } from './snapshot.ts'

/** Returns the options to show; none when one of them depends on a silent host (WHY-5). */
export async function soundOptions(env: Env, advice: readonly Advice[]): Promise<WhyOption[]> {
  const shown = cheapestAdvice(advice)
  return (await isAnySilent(env, shown)) ? [] : shown.map(({ option }) => option)
}

/** Returns the answer of `explain`: verdict, evidence and options; no options while a host that they depend on is silent (WHY-5). */
export async function answerExplain(
  env: Env,
  { code, verdict, sinceMs, facts }: Verdict,
  advice: readonly Advice[],
  { nowMs, asOfMs = nowMs, isStale = false }: { nowMs: number; asOfMs?: number; isStale?: boolean },
): Promise<Why> {
  const shown = isStale ? [] : cheapestAdvice(advice)
  const isSilent = isStale || (await isAnySilent(env, shown))
  return {
    code,
    verdict,
    since: sinceMs === null ? null : formatTime(sinceMs),
    sinceMs: sinceMs === null ? null : Math.max(0, nowMs - sinceMs),
    evidence: facts.map(({ atMs, ...fact }) => ({ ...fact, at: atMs === null ? null : formatTime(atMs) })),
    options: isSilent ? [] : shown.map(({ option }) => option),
    asOf: formatTime(asOfMs),
    isStale: isSilent,
  }
}
