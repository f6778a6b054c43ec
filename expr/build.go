package expr

// Plus is the simplified sum of e and x.
func (e *Expr) Plus(x *Expr) *Expr { return simplify(opAdd, e, x) }

// Minus is the simplified difference of e and x.
func (e *Expr) Minus(x *Expr) *Expr { return simplify(opSub, e, x) }

// Times is the simplified product of e and x.
func (e *Expr) Times(x *Expr) *Expr { return simplify(opMul, e, x) }

// Over is the simplified quotient of e and x.
func (e *Expr) Over(x *Expr) *Expr { return simplify(opDiv, e, x) }

// Negative is the simplified negative of e.
func (e *Expr) Negative() *Expr { return simplify(opNeg, e) }

// Variable is the expression of a variable.
func Variable(name string) *Expr { return variable(name, "", 0) }

// Name is the name of a variable, "" of any other expression.
func (e *Expr) Name() string { return e.name }

// Args are the arguments of an operation, nil of a number or a variable.
func (e *Expr) Args() []*Expr { return e.args }

// IsSum reports whether e is a sum, a difference or a negative.
func (e *Expr) IsSum() bool { return e.op == opAdd || e.op == opSub || e.op == opNeg }

// IsProduct reports whether e is a product.
func (e *Expr) IsProduct() bool { return e.op == opMul }

// IsQuotient reports whether e is a quotient.
func (e *Expr) IsQuotient() bool { return e.op == opDiv }

// IsComparison reports whether e compares its two arguments.
func (e *Expr) IsComparison() bool { return opLess <= e.op && e.op <= opNotEqual }
