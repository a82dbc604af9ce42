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
  if (older === null) return 'There are no older lines.'
  return isFull ? 'The view is full. To see older lines, search or choose a start time.' : undefined
}
