#!/usr/bin/env node
// Each entry is imported on demand: a built-in program starts in a fraction of the time that the agent needs.
const [, entry = '', verb, ...rest] = process.argv

if (verb === '__builtin') {
  const { runBuiltin } = await import('./builtin/run.ts')
  await runBuiltin(rest[0], rest[1])
} else if (verb === '__engine') {
  const { runEngineClient } = await import('./docker/engine/serve.ts')
  await runEngineClient()
} else if (verb === '__reach') {
  const { runReachProbe } = await import('./network/overlay/reach/reach-probe.ts')
  await runReachProbe()
} else {
  const { runCli } = await import('./cli.ts')
  await runCli(process.argv, [process.execPath, ...process.execArgv, entry])
}

export {}
