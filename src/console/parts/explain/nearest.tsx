import type { WhyOption } from '../../../contract/explain/explain.ts'
import { paths } from '../../hooks/paths.ts'
import { Button, LinkButton } from '../button.tsx'
import { priceOf, sentence, stoppedPod } from './options.ts'

interface NearestProps {
  options: readonly WhyOption[]
  /** Applies the request of an option to the form. */
  onTake: (body: Record<string, unknown>) => void
}

/** Smallest changes with which the request would fit now (WHY-12). A button changes the form and creates nothing. */
export function Nearest({ options, onTake }: NearestProps) {
  if (options.length === 0) return <p className="text-soft">No similar configuration fits now.</p>
  return (
    <section aria-label="Alternatives that fit now">
      <h3 className="mb-2 font-medium">Alternatives that fit now</h3>
      <ul className="flex flex-col gap-2">
        {options.map((option) => (
          <li key={`${option.kind}/${option.summary}`} className="flex flex-col items-start gap-0.5">
            <Taken option={option} onTake={onTake} />
            <span className="text-soft px-1 text-xs tabular-nums">{priceOf(option)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

// An option that stops a pod links to the page of the pod, which shows the impact of the stop.
function Taken({ option, onTake }: { option: WhyOption; onTake: NearestProps['onTake'] }) {
  const { summary, call } = option
  const podId = stoppedPod(option)
  if (podId !== undefined) return <LinkButton to={paths.pod(podId)}>{sentence(summary)}</LinkButton>
  if (call === null) return <span>{sentence(summary)}</span>
  return (
    <Button className="text-left whitespace-normal" onClick={() => onTake(call.body)}>
      {sentence(summary)}
    </Button>
  )
}
