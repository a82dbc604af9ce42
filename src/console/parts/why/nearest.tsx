import type { WhyOption } from '../../../contract/why/why.ts'
import { paths } from '../../app/paths.ts'
import { Button, LinkButton } from '../button.tsx'
import { priceOf, sentence, stoppedPod } from './options.ts'

interface NearestProps {
  options: readonly WhyOption[]
  /** Puts what an option asks for into the form. */
  onTake: (body: Record<string, unknown>) => void
}

/** The smallest changes with which what is asked for would fit now (WHY-12): a press changes the form, and nothing is made yet. */
export function Nearest({ options, onTake }: NearestProps) {
  if (options.length === 0) return <p className="text-soft">No small change of it would fit now either.</p>
  return (
    <section aria-label="What would fit now">
      <h3 className="mb-2 font-medium">What would fit now</h3>
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

// What is no other request is done elsewhere: a pod is stopped on its own page, which says what that takes with it.
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
