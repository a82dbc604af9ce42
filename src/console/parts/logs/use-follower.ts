import { useEffect, useMemo } from 'react'
import { useApi } from '../../hooks/session.ts'
import { followWhileVisible } from '../../hooks/visible.ts'
import { LogFollower } from './reading/follower.ts'
import type { LogOrigin } from './reading/origins.ts'
import { pageQuery, sourceOf, type Wanted } from './reading/source.ts'

/** Follower of a log, paused while the tab is hidden, with its query. */
export function useFollower(of: LogOrigin, { source, since, text, around }: Wanted) {
  const { api } = useApi()
  const made = useMemo(() => {
    const wanted = { source, since, text, around }
    const nowMs = Date.now()
    return { query: pageQuery(wanted, of.span, nowMs), follower: new LogFollower(sourceOf(api, of, wanted, nowMs)) }
  }, [api, of, source, since, text, around])
  useEffect(() => followWhileVisible(made.follower), [made])
  return made
}
