// Renders a component again only when one of its properties is another value.
import { Component, type ComponentType, h } from "preact";

export function memo<P extends object>(Inner: ComponentType<P>): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const keys = new Set([...Object.keys(this.props), ...Object.keys(next)]);
      return [...keys].some((key) => !Object.is((this.props as Record<string, unknown>)[key], (next as Record<string, unknown>)[key]));
    }
    render() {
      return h(Inner as ComponentType<object>, this.props as object);
    }
  };
}
