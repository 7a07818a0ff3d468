"""The maps of the report: a dot has a name, and leads to the matrix."""

from pages import picture

DOTS = """side => {
  const canvas = document.getElementById(side + "-map"), pen = canvas.getContext("2d");
  const { data, width } = pen.getImageData(0, 0, canvas.width, canvas.height), dots = [];
  for (let i = 0; i < data.length; i += 4) {
    const most = Math.max(...data.slice(i, i + 3)), least = Math.min(...data.slice(i, i + 3));
    const at = [i / 4 % width, Math.floor(i / 4 / width)];
    if (data[i + 3] > 150 && most - least > 60) dots.push(at);
  }
  const box = canvas.getBoundingClientRect();
  return dots.map(([x, y]) => [x * box.width / width, y * box.height / canvas.height]);
}"""


def test_a_dot_of_the_map_has_a_name_and_marks_its_element(opened, women):
    page = opened(women)
    before = picture(page)
    dots = page.evaluate(DOTS, "rows")
    x, y = dots[len(dots) // 2]
    page.locator("#rows-map").hover(position={"x": x, "y": y})
    name = page.inner_text("#tip .strong")
    assert name in page.inner_text("#clusters")
    page.locator("#rows-map").click(position={"x": x, "y": y})
    assert page.inner_text("#selection").startswith(name)
    assert picture(page) != before


def test_the_map_names_nothing_where_there_is_no_dot(opened, women):
    page = opened(women)
    page.locator("#columns-map").hover(position={"x": 9, "y": 9})
    assert page.locator("#tip").is_hidden()
