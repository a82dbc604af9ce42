import { bytes } from '../../../parts/format.ts'
import { Panel } from '../../../parts/page.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { JsonText } from '../json-text.tsx'
import { useTimeline } from './use-timeline.ts'

/** Input of a job, while the plane retains it (UI-54). */
export function JobInput({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const timeline = useTimeline(endpointId, jobId)
  return (
    <Panel title="Input">
      <ViewState
        of={timeline}
        empty={{
          when: ({ input }) => input === null,
          show: <p className="text-soft">The input is not retained, because a completed or cancelled job does not run again.</p>,
        }}
      >
        {({ input }) =>
          input && (
            <div className="flex flex-col gap-2">
              <JsonText value={input.isWhole ? (JSON.parse(input.json) as unknown) : input.json} name="the input" />
              {!input.isWhole && <p className="text-soft">Only the beginning is shown; the input has {bytes(input.bytes)} in total.</p>}
            </div>
          )
        }
      </ViewState>
    </Panel>
  )
}
