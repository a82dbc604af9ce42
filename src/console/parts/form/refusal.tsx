/** What the plane said of a form as a whole; nothing while it has said nothing. */
export function Refusal({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <p role="alert" className="bg-bad-bg text-bad rounded-md p-3">
      {text}
    </p>
  )
}
