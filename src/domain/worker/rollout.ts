/** How far a release has come among the workers of an endpoint (END-14); percent is 0 without workers, and never 100 too early. */
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
