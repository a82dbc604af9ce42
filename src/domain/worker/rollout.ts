/** Progress of a rollout among the workers of an endpoint (END-14). Percent is rounded down, and 0 without workers. */
export function rolloutOf(versions: readonly number[], endpointVersion: number) {
  const workersTotal = versions.length
  const workersOnLatest = versions.filter((version) => version === endpointVersion).length
  return {
    inProgress: workersOnLatest < workersTotal,
    workersOnLatest,
    workersTotal,
    percentOnLatest: workersTotal === 0 ? 0 : Math.floor((100 * workersOnLatest) / workersTotal),
  }
}
