import { paths } from '../hooks/paths.ts'
import { A } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'

export function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        The address may be wrong. <A to={paths.home()}>Home</A> lists your resources.
      </p>
    </Page>
  )
}
