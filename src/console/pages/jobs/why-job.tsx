import { useLive } from '../../app/live.ts'
import { Face } from '../../parts/faces.tsx'
import { Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/table.tsx'

/** Why a job is where it is: the plane's verdict and the figures behind it. */
export function WhyJob({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const why = useLive(['job', endpointId, jobId, 'why'], (api, signal) => api.explainJob({ path: { endpointId, jobId } }, { signal }))
  return (
    <Panel title="Why">
      <Face of={why}>
        {({ detail, position, ahead, workers, scaling, placement }) => (
          <div className="flex flex-col gap-3">
            <p className="font-medium">{detail}</p>
            <Facts
              rows={[
                ['Before it', position === null ? 'nothing' : `${position} (${ahead.normal} normal, ${ahead.low} of low priority)`],
                [
                  'Workers',
                  workers.length === 0 ? 'none' : workers.map(({ id, status, reason }) => `${id}: ${status}, ${reason}`).join('; '),
                ],
                ['Scaler', `wants ${scaling.desired} of at most ${scaling.max}: ${scaling.reason}`],
              ]}
            />
            {placement && placement.length > 0 && (
              <div>
                <h3 className="font-medium">What machines lack</h3>
                <ul className="list-disc pl-5">
                  {placement.map(({ hostId, failed }) => (
                    <li key={hostId}>
                      <span className="font-mono text-xs">{hostId}</span>: {failed.join(', ') || 'nothing'}
                    </li>
                  ))}
                </ul>
              </div>
            )}
          </div>
        )}
      </Face>
    </Panel>
  )
}
