// A part that fails to draw says so in its place; the rest of the page and the stream go on.
import { Component, type ComponentChildren } from "preact";

export class Boundary extends Component<{ children: ComponentChildren }, { problem: string | null }> {
  override state: { problem: string | null } = { problem: null };

  static override getDerivedStateFromError(error: unknown) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }

  render() {
    if (this.state.problem === null) return this.props.children;
    return (
      <section class="empty" role="alert">
        <h1>This page could not be drawn</h1>
        <p>{this.state.problem}. The daemon and the jobs are not concerned; <code>schedctl</code> shows the same facts.</p>
        <p><button class="button" type="button" onClick={() => location.reload()}>Reload</button></p>
      </section>
    );
  }
}
