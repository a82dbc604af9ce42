import { paths } from '../hooks/paths.ts'
import { A } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'

/** Shows that the address belongs to no page, with a link to Home. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        The address may be wrong. <A to={paths.home()}>Home</A> lists your resources.
      </p>
    </Page>
  )
}
