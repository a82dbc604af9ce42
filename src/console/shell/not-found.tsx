import { paths } from '../hooks/paths.ts'
import { A } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        The address may have been typed wrong. <A to={paths.home()}>Home</A> lists what runs.
      </p>
    </Page>
  )
}
