import { Button } from '../button.tsx'
import type { LogState } from './reading/follower.ts'
import type { usePages } from './use-pages.ts'

interface LogPagerProps {
  state: LogState
  pages: ReturnType<typeof usePages>
  onNewest: () => void
}

/** Buttons that load lines before and after the shown ones. */
export function LogPager({ state, pages, onNewest }: LogPagerProps) {
  return (
    <div className="flex flex-wrap gap-2">
      <Button kind="quiet" isBusy={pages.isBusy} disabledReason={olderOff(state)} onClick={pages.older}>
        Older lines
      </Button>
      {state.newer !== null && state.status === 'paused' && (
        <>
          <Button kind="quiet" isBusy={pages.isBusy} onClick={pages.newer}>
            Newer lines
          </Button>
          <Button kind="quiet" onClick={onNewest}>
            To the newest lines
          </Button>
        </>
      )}
    </div>
  )
}

function olderOff({ older, isFull }: LogState): string | undefined {
  if (older === null) return 'Nothing is older here.'
  return isFull ? 'The view is full. Search, or say since when, to look further back.' : undefined
}
