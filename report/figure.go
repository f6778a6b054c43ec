package report

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A figure is a drawing of fixed size that can be written in any format.
type figure struct {
	Name          string // file name without extension
	Caption       string // says what is seen, also for readers who cannot see
	Width, Height vg.Length
	part, title   string // of the page that has it, "" for none; its heading there
	data          string // file of its numbers
	draw          func(c draw.Canvas)
}

// A key is an entry of the legend above a plot.
type key struct {
	label string
	color color.NRGBA
	shape draw.GlyphDrawer // nil for a line
}

// plotFigure is a plot with a legend above it, if it has keys, in as many lines as they need.
func plotFigure(name, caption string, width, height vg.Length, p *plot.Plot, keys ...key) figure {
	return figure{Name: name, Caption: caption, Width: width, Height: height, draw: func(c draw.Canvas) {
		top := vg.Length(2)
		if len(keys) > 0 {
			top = 4 + drawKeys(draw.Crop(c, 4, 0, 0, 0), p, keys)
		}
		// Room for tick labels that stick out at the ends.
		p.Draw(draw.Crop(c, 4, -10, 1, -top))
	}}
}

// drawKeys draws a legend at the top of c and returns its height.
func drawKeys(c draw.Canvas, p *plot.Plot, keys []key) vg.Length {
	const lineHeight = 16
	style := p.Y.Label.TextStyle
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	x, y := c.Min.X, c.Max.Y-lineHeight/2
	for _, k := range keys {
		mark := vg.Length(18)
		if k.shape != nil {
			mark = 12
		}
		end := x + mark + style.Width(k.label)
		if end > c.Max.X && x > c.Min.X {
			end -= x - c.Min.X
			x, y = c.Min.X, y-lineHeight
		}
		if k.shape != nil {
			c.DrawGlyph(draw.GlyphStyle{Color: k.color, Radius: 3, Shape: k.shape}, vg.Point{X: x + 5, Y: y})
		} else {
			c.StrokeLine2(line(k.color, 2), x, y, x+14, y)
		}
		c.FillText(style, vg.Point{X: x + mark, Y: y}, k.label)
		x = end + 16
	}
	return c.Max.Y - y + lineHeight/2
}

// SVG returns the figure as a file on a white background. It names the font
// Liberation Sans and falls back on what a viewer has.
func (f figure) SVG() ([]byte, error) {
	return f.svg(color.White)
}

func (f figure) svg(background color.Color) ([]byte, error) {
	c := vgsvg.New(f.Width, f.Height)
	dc := draw.New(c)
	if background != nil {
		dc.SetColor(background)
		dc.Fill(dc.Rectangle.Path())
	}
	f.draw(dc)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	text := b.String()
	// The canvas declares its PNG images to be JPEG, and it names one font only.
	text = strings.ReplaceAll(text, "data:image/jpg;", "data:image/png;")
	// An image fills its rectangle, whatever its number of pixels.
	text = strings.ReplaceAll(text, "<image ", `<image preserveAspectRatio="none" `)
	text = strings.ReplaceAll(text, "font-family:Liberation Sans", "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	return []byte(text), nil
}

// PNG returns the figure on a white background at 200 dots per inch.
func (f figure) PNG() ([]byte, error) { return f.png(200) }

func (f figure) png(dpi int) ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// inline returns the figure as an element of the page: transparent, without a
// fixed size, in the colours and the font of the page.
func (f figure) inline() (string, error) {
	src, err := f.svg(nil)
	if err != nil {
		return "", err
	}
	_, body, ok := strings.Cut(string(src), "<svg ")
	if !ok {
		return "", fmt.Errorf("figure %s: not an SVG document", f.Name)
	}
	_, body, _ = strings.Cut(body, ">")
	body = variables().Replace(body)
	body = strings.ReplaceAll(body, "font-family:Liberation Sans,Arial,Helvetica,sans-serif;font-variant:normal;", "")
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">%s`,
		f.Width.Points(), f.Height.Points(), html.EscapeString(f.Caption), body), nil
}
